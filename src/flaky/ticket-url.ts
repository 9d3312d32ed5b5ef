const KEY = /^[A-Za-z0-9#][A-Za-z0-9._#/-]{0,99}$/;
const PLACE = '{key}';

/**
 * The URL of a ticket: the ticket itself if it is a URL, else the template with its key. Undefined if neither works.
 */
export function findTicketUrl(ticket: string, template: string | null): string | undefined {
  if (isHttpUrl(ticket)) return ticket;
  if (template === null || !KEY.test(ticket)) return undefined;
  return template.replaceAll(PLACE, encodeURIComponent(ticket));
}

export function isTicketTemplate(text: string): boolean {
  return text.includes(PLACE) && isHttpUrl(text.replaceAll(PLACE, 'KEY-1'));
}

/** Pages show these links, so spaces and embedded passwords are refused. */
function isHttpUrl(text: string): boolean {
  if (!/^https?:\/\/[^\s"<>\\]+$/i.test(text) || !URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username === '' && password === '';
}
