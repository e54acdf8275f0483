import * as library from 'nestjs-analytics-relay';
import ts from 'typescript';
import { expect, it } from 'vitest';

it.each([
  ['Track', 'order() {}'],
  ['Page', 'order() {}'],
  ['AnalyticsScope', 'order() {}'],
  ['InjectAnalytics', 'order'],
])(
  '@%s compiled as a standard decorator throws an error that names the missing compiler option',
  (decorator, member) => {
    const source = `class Orders { @library.${decorator}('Ordered') ${member} }`;
    const define = (experimentalDecorators: boolean) => {
      const target = ts.ScriptTarget.ES2022;
      const { outputText } = ts.transpileModule(source, { compilerOptions: { target, experimentalDecorators } });
      // eslint-disable-next-line @typescript-eslint/no-implied-eval, @typescript-eslint/no-unsafe-call
      return () => void new Function('library', outputText)(library);
    };
    expect(define(false)).toThrow(library.OptionsError);
    expect(define(false)).toThrow(/^order: .* need the compiler option experimentalDecorators: set it to true/);
    expect(define(true)).not.toThrow();
  },
);
