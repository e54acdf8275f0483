import type { IncomingMessage, ServerResponse } from 'node:http';

import type { ExecutionContext } from '@nestjs/common';

import { RelayError } from '../../client/relay.error.js';
import { errorMessage } from '../../common/error.util.js';
import { LimitedLogger } from '../../common/limited.logger.js';
import type { Metric } from '../../common/telemetry/metric.js';
import { PROMETHEUS_TYPE, toPrometheusText } from '../../common/telemetry/prometheus.text.js';
import { answerError } from '../ingest/json-answer.js';
import { admitRequest } from '../ingest/pipeline-limit.js';
import { RequestError, QUEUE_RETRY_AFTER } from '../ingest/request.error.js';
import type { AdminGate } from './admin.gate.js';
import type { AdminEndpoint } from './admin.mount.js';

/** Answers `GET /relay/api/metrics`. */
export class MetricsEndpoint implements AdminEndpoint {
  private readonly logger = new LimitedLogger('WebhookDestinationAdmin');

  private gate: AdminGate = () => Promise.reject(new RelayError('starting', 'the application is still starting'));

  constructor(private readonly metrics: readonly Metric[]) {}

  open(gate: AdminGate): void {
    this.gate = gate;
  }

  async handle(request: IncomingMessage, response: ServerResponse, context: ExecutionContext): Promise<void> {
    if (!admitRequest(request, response)) return;
    try {
      await this.gate(context, 'read');
      const text = await toPrometheusText(this.metrics);
      const headers = { 'Content-Type': PROMETHEUS_TYPE, 'Content-Length': Buffer.byteLength(text) };
      response.writeHead(200, { ...headers, 'Cache-Control': 'no-store' }).end(text);
    } catch (error) {
      const refusal = this.toRequestError(error);
      if (refusal.status === 401) response.setHeader('WWW-Authenticate', 'Bearer');
      answerError(request, response, refusal);
    }
  }

  private toRequestError(error: unknown): RequestError {
    if (error instanceof RequestError) return error;
    this.logger.limited('error', `The metrics could not be read: ${errorMessage(error)}`);
    const rule = 'the metrics cannot be read now; try again later';
    return new RequestError(503, 'metrics_failed', rule, undefined, QUEUE_RETRY_AFTER);
  }
}
