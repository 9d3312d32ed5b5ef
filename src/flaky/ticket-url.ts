const KEY = /^[A-Za-z0-9#][A-Za-z0-9._#/-]{0,99}$/;
const PLACE = '{key}';

/** A ticket's address: as it stands, or its key put into the template. Undefined where it is neither. */
export function findTicketUrl(ticket: string, template: string | null): string | undefined {
  if (isHttpUrl(ticket)) return ticket;
  if (template === null || !KEY.test(ticket)) return undefined;
  return template.replaceAll(PLACE, encodeURIComponent(ticket));
}

export function isTicketTemplate(text: string): boolean {
  return text.includes(PLACE) && isHttpUrl(text.replaceAll(PLACE, 'KEY-1'));
}

/** Links are shown to people: without spaces, and without a password in them. */
function isHttpUrl(text: string): boolean {
  if (!/^https?:\/\/[^\s"<>\\]+$/i.test(text) || !URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username === '' && password === '';
}
