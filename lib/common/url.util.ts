/** Whether the user info of a URL can be decoded: each percent sign in it begins an escape. False for other text. */
export function hasReadableUserInfo(url: string): boolean {
  try {
    const { username, password } = new URL(url);
    decodeURIComponent(username);
    decodeURIComponent(password);
    return true;
  } catch {
    return false;
  }
}
