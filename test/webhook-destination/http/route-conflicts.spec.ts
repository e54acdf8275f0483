import {
  All,
  Controller,
  Get,
  type INestApplication,
  Logger,
  Module,
  Post,
  type Type,
  Version,
  VersioningType,
} from '@nestjs/common';
import { RouterModule } from '@nestjs/core';
import { describe, expect, it, vi } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { platforms } from '../../support/platforms.js';
import { startRelayApp } from '../../support/relay.app.js';

@Controller('import')
class ImportController {
  @Post()
  @Version('1')
  create(): string {
    return 'own';
  }
}

@Controller({ path: ['group', 'page'], version: ['1', '2'] })
class PairController {
  @Post()
  add(): string {
    return 'own';
  }
}

@Controller()
class MetricsController {
  @All('v1/m')
  measure(): string {
    return 'own';
  }
}

@Controller('m')
class InModuleController {
  @Post()
  measure(): string {
    return 'own';
  }
}

@Module({ controllers: [InModuleController] })
class InModule {}

@Controller('v1/delete')
class DeleteController {
  @Post()
  remove(): string {
    return 'own';
  }
}

@Controller('v1/projects')
class ProjectsController {
  @Get(':id/settings')
  settings(): string {
    return 'own';
  }
}

@Controller('v1')
class ResourceController {
  @Post(':resource')
  create(): string {
    return 'own';
  }
}

@Controller()
class ApartController {
  @Get('v1/track')
  get(): string {
    return 'own';
  }

  @Post('v2/track')
  post(): string {
    return 'own';
  }

  @All('*')
  other(): string {
    return 'own';
  }
}

const plain = () => undefined;

const versioned = (app: INestApplication) => app.enableVersioning({ type: VersioningType.URI });

describe.each(platforms)("The application's own routes on $platform", ({ createAdapter }) => {
  const afterwards = useCleanUps();

  const start = (controller: Type, prepare: (app: INestApplication) => unknown = () => undefined, prefix = 'v1') =>
    startRelayApp(afterwards, createAdapter(), {
      options: { ingest: { prefix }, admin: { token: 'an-admin-token-of-32-characters!' } },
      metadata:
        controller === InModuleController
          ? { imports: [InModule, RouterModule.register([{ path: 'v1', module: InModule }])] }
          : { controllers: [controller] },
      prepare,
    });

  it.each<[string, string, Type, (app: INestApplication) => unknown]>([
    ['POST /v1/import is also ImportController.create', 'URI versioning', ImportController, versioned],
    ['POST /v1/page is also PairController.add', 'several paths and versions', PairController, versioned],
    ['POST /v1/m is also MetricsController.measure', '@All', MetricsController, plain],
    ['POST /v1/m is also InModuleController.measure', 'RouterModule', InModuleController, plain],
    ['POST /v1/delete is also DeleteController.remove', 'the route for deletions', DeleteController, plain],
    [
      'GET /v1/projects/:writeKey/settings is also ProjectsController.settings',
      'a parameter',
      ProjectsController,
      plain,
    ],
    [
      'POST /api/v1/import is also ImportController.create',
      'a global prefix',
      ImportController,
      (app) => versioned(app).setGlobalPrefix('api'),
    ],
    [
      'POST /v1/m is also MetricsController.measure',
      'an exception to the global prefix',
      MetricsController,
      (app) => app.setGlobalPrefix('api', { exclude: ['v1/m'] }),
    ],
  ])('are found at start: %s (%s)', async (text, _case, controller, prepare) => {
    const started = start(controller, prepare);
    await expect(started).rejects.toThrow(text);
    await expect(started).rejects.toThrow("ingest.prefix must keep the relay's routes apart");
  });

  it('may have the same names below another prefix of the relay', async () => {
    const { host } = await start(ImportController, versioned, 'collect');
    expect(await (await fetch(`${host}/v1/import`, { method: 'POST' })).text()).toBe('own');
  });

  it('are found if they were added to the platform itself', async () => {
    const add = (app: INestApplication) => void app.getHttpAdapter().post('/v1/import', (() => undefined) as never);
    await expect(start(ApartController, add)).rejects.toThrow(/POST \/v1\/import is also a route of (Express|Fastify)/);
  });

  it('are named in a warning if they match by a parameter', async () => {
    const warn = vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    await start(ResourceController);
    const lines = warn.mock.calls.map(([line]) => String(line));
    vi.restoreAllMocks();
    expect(lines).toContainEqual(
      expect.stringMatching(
        /^The relay has POST \/v1\/batch, .*POST \/v1\/delete, which POST \/v1\/:resource \(ResourceController\.create\) matches too\. If that route needs them, set another ingest\.prefix than 'v1'/,
      ),
    );
  });

  it('raise nothing if they differ by method or path, or catch all requests', async () => {
    const warn = vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    await start(ApartController);
    const lines = warn.mock.calls.map(([line]) => String(line));
    vi.restoreAllMocks();
    expect(lines.filter((line) => line.includes('ingest.prefix'))).toEqual([]);
  });
});
