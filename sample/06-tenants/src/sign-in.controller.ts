import { Body, Controller, Get, Headers, Post, Redirect, Res } from '@nestjs/common';

import { appPage, signInPage } from './pages.js';
import { SessionsService } from './sessions.service.js';

interface CookieResponse {
  setHeader(name: string, value: string): void;
}

const COOKIE = 'Path=/; HttpOnly; SameSite=Lax';

@Controller()
export class SignInController {
  constructor(private readonly sessions: SessionsService) {}

  @Get()
  page(@Headers('cookie') cookies?: string): string {
    const person = this.sessions.find(cookies);
    return person ? appPage(person) : signInPage();
  }

  @Post('sign-in')
  @Redirect('/', 303)
  signIn(
    @Body() { email, password }: Record<string, unknown> = {},
    @Res({ passthrough: true }) response: CookieResponse,
  ): void {
    const id = this.sessions.start(email, password);
    if (id !== undefined) response.setHeader('Set-Cookie', `session=${id}; ${COOKIE}`);
  }

  @Post('sign-out')
  @Redirect('/', 303)
  signOut(@Headers('cookie') cookies?: string): void {
    this.sessions.end(cookies);
  }
}
