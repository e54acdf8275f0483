import { Test } from '@nestjs/testing';
import {
  ArrayMaxSize,
  IsDate,
  IsDefined,
  IsEmail,
  IsEnum,
  IsInt,
  IsNotEmpty,
  IsOptional,
  IsString,
  Length,
  Matches,
  Min,
  ValidateBy,
  ValidateIf,
  ValidateNested,
  type ValidationError as Fault,
  validateSync,
} from 'class-validator';
import { AnalyticsService, TrackedEvent, type ValidationError } from 'nestjs-analytics-relay';
import { AnalyticsTestingModule } from 'nestjs-analytics-relay/testing';
import { describe, expect, it } from 'vitest';

class Item {
  @IsString() sku: unknown = 'sku';
  @IsOptional() @ValidateNested() parent?: unknown;
}

@TrackedEvent('Everything')
class Everything {
  @IsString() @Length(2, 5) text: unknown = 'text';
  @IsInt() @Min(3) number: unknown = 3;
  @IsOptional() @IsEmail() optional: unknown = undefined;
  @IsDefined() defined: unknown = 0;
  @IsNotEmpty() filled: unknown = 'x';
  @IsDate() date: unknown = new Date();
  @IsEnum({ A: 'a', B: 'b' }) letter: unknown = 'a';
  @Matches(/^x/, { each: true }) @ArrayMaxSize(2) each: unknown = ['x'];
  @Min(5, { groups: ['some'] }) grouped: unknown = 5;
  @Min(5, { validateIf: (_object, value) => value !== 'no' }) decided: unknown = 5;
  @ValidateIf((event: Everything) => event.letter === 'b') @IsString() conditional: unknown = undefined;
  @ValidateNested() nested: unknown = new Item();
  @ValidateNested({ each: true }) list: unknown = [new Item()];
  @ValidateBy({ name: 'own', validator: { validate: (value) => value === 'own' } }) own: unknown = 'own';
}

/** Paths and rules, as class-validator finds them. */
function flatten(faults: Fault[], parent = ''): string[] {
  return faults.flatMap(({ property, constraints = {}, children = [] }) => [
    ...Object.keys(constraints).map((rule) => `${parent}${property} (${rule})`),
    ...flatten(children, `${parent}${property}.`),
  ]);
}

const item = (fields: object) => Object.assign(new Item(), fields);

const broken: Partial<Record<keyof Everything, unknown>>[] = [
  { text: 5, number: '5', optional: 'x', defined: null, filled: '' },
  { text: 'a', number: 2.5, optional: null, defined: undefined },
  { text: undefined, number: null, date: 'today', letter: 'c', grouped: 1 },
  { each: ['x', 'y'] },
  { each: ['x', 'x', 'x'] },
  { each: 'y' },
  { each: new Set(['y']) },
  { each: new Map([['k', 'y']]) },
  { decided: 1 },
  { letter: 'b' },
  { nested: item({ sku: 1 }) },
  { nested: item({ parent: item({ sku: 1 }) }) },
  { nested: null },
  { nested: 'text' },
  { nested: [item({ sku: 1 })] },
  { list: [new Item(), item({ sku: 1 }), 'text', null] },
  { list: new Map([['k', item({ sku: 1 })]]), own: 'other' },
  { list: [[item({ sku: 1 })]] },
];
const fine: typeof broken = [
  {},
  { optional: null },
  { decided: 'no' },
  { letter: 'b', conditional: 'text' },
  { nested: undefined },
  { list: [] },
  { list: [undefined] },
  { nested: {} },
  { list: [{}] },
];

describe('The rules of an event class', () => {
  it.each([...broken, ...fine].map((fields, index) => [index < broken.length, fields] as const))(
    'are those that class-validator finds broken (%s): %s',
    async (isBroken, fields) => {
      const app = await Test.createTestingModule({
        imports: [AnalyticsTestingModule.forRoot({ trackingPlan: { violations: 'throw' } })],
      }).compile();
      const event = Object.assign(new Everything(), fields);
      const expected = flatten(validateSync(event, { forbidUnknownValues: false }));
      let found: string[] = [];
      try {
        app.get(AnalyticsService).trackEvent(event, { userId: 'u' });
      } catch (error) {
        found = (error as ValidationError).message.replace('"Everything" breaks the tracking plan: ', '').split(', ');
      }
      expect(found.sort()).toEqual(expected.sort());
      expect(found.length > 0).toBe(isBroken);
    },
  );
});
