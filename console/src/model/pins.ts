// Which attributes a person wants charts of; remembered by the browser.
import { Store } from './store';

export interface Pin {
  router: string;
  type: string;
  identity: string;
  attribute: string;
  /** What a person calls the entity. */
  name: string;
}

const KEY = 'waystation.charts';

function remembered(): Pin[] {
  try {
    const pins: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(pins) ? pins.filter((pin) => pin && typeof pin.attribute === 'string' && typeof pin.router === 'string') : [];
  } catch {
    return [];
  }
}

export const pins = new Store<readonly Pin[]>(remembered());

export const same = (a: Pin, b: Pin) => a.router === b.router && a.type === b.type && a.identity === b.identity && a.attribute === b.attribute;

export function togglePin(pin: Pin) {
  pins.update((all) => (all.some((each) => same(each, pin)) ? all.filter((each) => !same(each, pin)) : [...all, pin]));
  try {
    localStorage.setItem(KEY, JSON.stringify(pins.get()));
  } catch {
    // Then they hold for this visit only.
  }
}

/** Numbers that go up and down: shown as they are. All others only grow, and their growth is shown. */
const GAUGES =
  /^(addrCount|linkCount|nodeCount|linkRouteCount|autoLinkCount|connectionCount|blockedLinkCount|linksBlocked|deliveriesStuck|undeliveredCount|unsettledCount|creditAvailable|subscriberCount|remoteCount|containerCount|connectionsCurrent|settleRate|memoryUsage|uptimeSeconds|zeroCreditSeconds|lastDlvSeconds|heldByThreads|localFreeListMax|globalFreeListMax|bindingCount|trackedDeliveries|inProcess|capacity|priority|cost|index|depth|bytes|acquired|delayed|consumers|producers|oldestAge|queues|messages|logBytes|syncMicroseconds)$/;

/** Numbers of which a chart tells nothing: settings, and names that are numbers. */
const SETTINGS = /^(phase|ingressPhase|egressPhase|nextHopPhase|alternatePhase|cost|port|index|priority|connectionId|peer|linkRef|capacity|maxFrameSize|maxSessions|maxSessionFrames|idleTimeoutSeconds|initialHandshakeTimeoutSeconds|linkCapacity|.*(Size|Version|instance|lastTopoChange))$|^(helloIntervalSeconds|helloMaxAgeSeconds|raIntervalSeconds|raIntervalFluxSeconds|remoteLsMaxAgeSeconds|workerThreads|max.*)$/;

export const isCharted = (attribute: string) => !SETTINGS.test(attribute);
export const isGauge = (attribute: string) => GAUGES.test(attribute);
