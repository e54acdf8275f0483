import {
  ArrayMaxSize,
  IsBoolean,
  IsDate,
  IsEmail,
  IsEnum,
  IsIn,
  IsInt,
  IsMobilePhone,
  IsNotEmpty,
  IsNumber,
  IsOptional,
  IsString,
  IsUUID,
  Length,
  Matches,
  Max,
  Min,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import { TrackedEvent } from 'nestjs-analytics-relay';

enum Channel {
  Web = 'web',
  Store = 'store',
}

class Address {
  @IsString() city!: string;
  @IsOptional() @Matches(/^\d{4,5}$/) zip?: string;
  @IsOptional() @ValidateNested() former?: Address;
}

class Placed {
  @IsDate() placedAt!: Date;
}

@TrackedEvent('Order Completed', { description: 'A customer paid.' })
export class OrderCompleted extends Placed {
  @IsUUID() orderId!: string;
  @IsNumber() @Min(0) @Max(1e6) revenue!: number;
  @IsIn(['CHF', 'EUR']) currency!: string;
  @IsEnum(Channel) channel!: Channel;
  @IsOptional() @IsEmail() email?: string;
  @IsOptional() @IsMobilePhone('de-CH') phone?: string;
  @IsString({ each: true }) @Length(3, 20, { each: true }) @ArrayMaxSize(50) skus!: string[];
  @IsBoolean() isGift!: boolean;
  @ValidateIf(({ isGift }: OrderCompleted) => isGift) @IsNotEmpty() greeting?: string;
  @ValidateNested() address!: Address;
  @ValidateNested({ each: true }) others!: Address[];
  @IsInt() count!: number;
}

/** What is no event is left alone. */
export class Order {}
