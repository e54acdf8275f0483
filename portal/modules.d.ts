/** The bundler merges all imported styles into one file. */
declare module '*.css';

/** The bundler takes what is in `verify/` as text. */
declare module '*/verify/node.js' {
  const text: string;
  export default text;
}
declare module '*.py' {
  const text: string;
  export default text;
}
declare module '*.go' {
  const text: string;
  export default text;
}
declare module '*.rb' {
  const text: string;
  export default text;
}
declare module '*.php' {
  const text: string;
  export default text;
}
declare module '*.java' {
  const text: string;
  export default text;
}
