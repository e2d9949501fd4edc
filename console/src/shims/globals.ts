// rhea expects Node's globals; this module is imported before it.
import { Buffer } from 'buffer';

const scope = globalThis as unknown as { Buffer?: unknown; process?: Record<string, unknown> };
scope.Buffer ??= Buffer;
scope.process ??= {};
scope.process['env'] ??= {};
scope.process['version'] ??= '';
scope.process['nextTick'] ??= (task: () => void) => queueMicrotask(task);
