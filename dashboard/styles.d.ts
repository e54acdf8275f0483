/** The bundler merges all imported styles into one file. */
declare module '*.css';
