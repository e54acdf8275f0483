// Imported by the workers that run the tests: gives every CommonJS module the NestJS of this folder.
import Module from 'node:module';

const paths = [import.meta.dirname];
const resolve = Module._resolveFilename;
Module._resolveFilename = (request, parent, isMain, options) =>
  resolve(request, parent, isMain, request.startsWith('@nestjs/') ? { paths } : options);
