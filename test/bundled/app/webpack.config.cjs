/** The configuration of the Nest CLI, with everything in the bundle but what Nest itself loads only where it is installed. */
module.exports = ({ plugins, ...options }, { IgnorePlugin }) => ({
  ...options,
  externals: [],
  plugins: [...plugins, new IgnorePlugin({ resourceRegExp: /^@nestjs\/(microservices|websockets)/ })],
});
