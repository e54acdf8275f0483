import type { RouteDescription } from '../../common/openapi.util.js';

/** What the OpenAPI document of the application says of `GET /relay/api/metrics`. */
export const METRICS_DESCRIPTION: RouteDescription = {
  summary: 'Figures of recording, ingest and delivery, as Prometheus text',
  operationId: 'analytics_metrics',
  authorization: 'Bearer',
  answers: {
    200: 'The figures',
    401: 'The admin token is wrong',
    403: 'The guard does not let the caller in',
    503: 'The figures cannot be read',
  },
};
