/** A comment of Sluice without hidden markers, the time, and the footer with the commands. */
export function readable(body: string): string {
  const lines = body.replaceAll(/<!--.*?-->\n?/g, '').split('\n');
  return lines
    .filter((line) => !line.startsWith('<sub>'))
    .join('\n')
    .replaceAll(/<\/?(?:details|summary)>/g, '')
    .replaceAll('\u200b', '')
    .replaceAll(/\\([\\`*_[\]<>#|~$&])/g, '$1')
    .replaceAll(/\n{2,}/g, '\n')
    .trim();
}
