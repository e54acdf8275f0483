// HEALTHCHECK of the image: it has no curl.
const { ok } = await fetch(`http://127.0.0.1:${process.env.PORT ?? 3000}/health/ready`).catch(() => ({ ok: false }));
process.exit(ok ? 0 : 1);
