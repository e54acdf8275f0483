/** The bundler puts a style into the one file of styles. */
declare module '*.css';
