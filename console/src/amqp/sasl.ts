import type { Target } from './protocol';

interface Mechanism {
  start(callback: (error: unknown, response: unknown) => void): void;
  step?(callback: (error: unknown, response: unknown) => void): void;
}

/** The SASL mechanisms that we would use for this target, by name, in the form that rhea takes. */
export function mechanisms(target: Target): Record<string, () => Mechanism> {
  if (target.username) {
    const response = plainResponse(target.username, target.password ?? '');
    return { PLAIN: () => ({ start: (callback) => callback(undefined, response) }) };
  }
  const offered: Record<string, () => Mechanism> = {
    ANONYMOUS: () => ({ start: (callback) => callback(undefined, octets('anonymous')) }),
  };
  if (target.url.startsWith('wss:')) {
    // The browser may have shown a certificate to the listener.
    const answer = (callback: (error: unknown, response: unknown) => void) => callback(undefined, octets(''));
    offered['EXTERNAL'] = () => ({ start: answer, step: answer });
  }
  return offered;
}

/** RFC 4616: an empty authorisation identity, the user and the password, in UTF-8. rhea's own counts characters, not bytes. */
function plainResponse(username: string, password: string) {
  return octets(`\0${username}\0${password}`);
}

function octets(text: string): Uint8Array {
  const Bytes = (globalThis as unknown as { Buffer: { from(text: string, encoding: string): Uint8Array } }).Buffer;
  return Bytes.from(text, 'utf8');
}
