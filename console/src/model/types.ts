// Names of the entity types that pages ask for.
const PREFIX = 'org.apache.qpid.dispatch.';

export const TYPES = {
  router: `${PREFIX}router`,
  node: `${PREFIX}router.node`,
  link: `${PREFIX}router.link`,
  address: `${PREFIX}router.address`,
  connection: `${PREFIX}connection`,
  listener: `${PREFIX}listener`,
  connector: `${PREFIX}connector`,
  autoLink: `${PREFIX}router.config.autoLink`,
  linkRoute: `${PREFIX}router.config.linkRoute`,
  connectionLinkRoute: `${PREFIX}router.connection.linkRoute`,
  log: `${PREFIX}log`,
  logStats: `${PREFIX}logStats`,
  queue: `${PREFIX}queue`,
} as const;

/** The last part of a type's name, as people write it. */
export function shortType(type: string): string {
  return type.startsWith(PREFIX) ? type.slice(PREFIX.length) : type;
}
