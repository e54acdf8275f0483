import type { Person } from './accounts.js';

const layout = (content: string) => `<!doctype html>
<html lang="en">
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>Orders Inc.</title>
  <style>
    :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
    body { max-width: 64rem; margin: 0 auto; padding: 1rem }
    header { display: flex; flex-wrap: wrap; gap: 1rem; align-items: center }
    header h1 { flex: 1; font-size: 1.25rem }
    iframe { width: 100%; height: 30rem; border: 0 }
    label { display: block; margin: 0.5rem 0 }
  </style>
  ${content}
</html>`;

export const signInPage = () =>
  layout(`<h1>Orders Inc.</h1>
  <form method="post" action="sign-in">
    <label>Email <input name="email" type="email" value="ada@acme.example" required></label>
    <label>Password <input name="password" type="password" required></label>
    <button>Sign in</button>
  </form>`);

/** The page of a customer: the application's own list of endpoints, made from the API, and the portal in an iframe. */
export const appPage = ({ email, account }: Person) =>
  layout(`<header>
    <h1>Orders Inc., ${account.name}</h1>
    <span>${email}</span>
    <button id="order">Place an order</button>
    <form method="post" action="sign-out"><button>Sign out</button></form>
  </header>
  <p id="summary"></p>
  <iframe id="portal" title="Webhooks"></iframe>
  <script type="module">
    const post = async (path) => (await fetch(path, { method: 'POST' })).json();
    const portal = document.getElementById('portal');
    const { url, token } = await post('portal-link');
    portal.src = url;

    addEventListener('message', ({ source, data }) => {
      if (source !== portal.contentWindow) return;
      if (data.type === 'nestjs-analytics-relay:height') portal.style.height = data.height + 'px';
      if (data.type === 'nestjs-analytics-relay:ended') location.reload(); // which asks for a new link
    });

    const showSummary = async () => {
      const headers = { Authorization: 'Bearer ' + token };
      const { endpoints } = await (await fetch('relay/portal/api/endpoints', { headers })).json();
      const failing = endpoints.filter(({ state }) => state === 'failing' || state === 'disabled').length;
      document.getElementById('summary').textContent = 'Endpoints: ' + endpoints.length + ', failing: ' + failing;
    };
    await showSummary();
    setInterval(showSummary, 5_000);
    document.getElementById('order').onclick = () => post('orders');
  </script>`);
