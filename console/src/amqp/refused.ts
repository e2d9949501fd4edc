/** What a link was refused or ended with, as a sentence. */
export function refusal(error: { condition?: unknown; description?: unknown } | undefined, verb: string, address: string): string {
  const condition = String(error?.condition ?? '');
  const description = String(error?.description ?? '');
  const details = [condition, description].filter(Boolean).join(': ');
  if (condition === 'amqp:unauthorized-access') return `This user may not ${verb} ${address}. The policy says no (${details}).`;
  return `The router ended the link ${details ? `(${details})` : 'and gave no reason'}.`;
}
