import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { session, useStore } from '../app';
import { rememberUrl, wsUrl, firstUrl } from '../model/target';

/** Where to connect to, and as whom. */
export function SignIn({ busy }: { busy: boolean }) {
  const state = useStore(session.state);
  const [url, setUrl] = useState(session.target?.url ?? firstUrl(location));
  const [username, setUsername] = useState('');
  const [password, setPassword] = useState('');
  const [wrong, setWrong] = useState('');
  const user = useRef<HTMLInputElement>(null);
  const message = wrong || (state.phase === 'signed-out' ? state.message : '');
  const credentials = state.phase === 'signed-out' && state.credentials;

  useEffect(() => {
    document.title = 'Connect · Waystation';
  }, []);
  // With the rendering: later it would take the focus from who types already.
  useLayoutEffect(() => {
    if (credentials) user.current?.focus();
  }, [credentials, message]);

  const submit = (event: Event) => {
    event.preventDefault();
    try {
      const target = { url: wsUrl(url, location.protocol === 'https:'), ...(username && { username, password }) };
      setWrong('');
      rememberUrl(target.url);
      session.signIn(target);
    } catch {
      setWrong(`“${url}” is no address of a listener. Write host:port, or ws://host:port/.`);
    }
  };

  return (
    <main class="sign-in">
      <form onSubmit={submit} aria-busy={busy}>
        <h1><img src="./icon.svg" alt="" width="26" height="26" /> Waystation</h1>
        <p class="note">The console of a network of AMQP routers.</p>
        <label>
          Router’s HTTP listener
          <input value={url} onInput={(event) => setUrl(event.currentTarget.value)} spellcheck={false} autocomplete="url" required />
        </label>
        <div class="pair">
          <label>
            User name
            <input ref={user} value={username} onInput={(event) => setUsername(event.currentTarget.value)} autocomplete="username" autocapitalize="off" spellcheck={false} />
          </label>
          <label>
            Password
            <input type="password" value={password} onInput={(event) => setPassword(event.currentTarget.value)} autocomplete="current-password" />
          </label>
        </div>
        <p class="note">Leave both empty where the listener takes anonymous connections.</p>
        {username && url.trim().startsWith('ws:') && !/^ws:\/\/(localhost|127\.|\[::1\])/.test(url.trim()) && (
          <p class="message warn">▲ This listener is not encrypted: the password will be readable on the way.</p>
        )}
        <div role="alert">{message && <p class="message bad">■ {message}</p>}</div>
        <button type="submit" class="primary" disabled={busy}>{busy ? 'Connecting…' : 'Connect'}</button>
      </form>
    </main>
  );
}
