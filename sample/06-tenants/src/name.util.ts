import { BadRequestException } from '@nestjs/common';

/** A name of a customer or webhook. It has no slash, so `customer/webhook` belongs to one customer only. */
export function toName(value: unknown): string {
  if (typeof value === 'string' && /^[a-z0-9-]{1,40}$/.test(value)) return value;
  throw new BadRequestException('name must be 1 to 40 lowercase letters, digits and hyphens');
}
