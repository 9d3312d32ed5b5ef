/** Output of a check comes from outside. On a terminal its colours stay, and nothing else of it can steer. */
export interface LogText {
  /** The next part, made harmless; the begin of a sequence at its end waits for the part after it. */
  add(text: string): string;
  /** What is left, and the colours of before. */
  end(): string;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const COLOUR = /\u001b\[[0-9;:]{0,40}m/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNFINISHED = /(?:\r|\u001b(?:\[[0-9;:]{0,40})?)$/;
// A colour, or what clean() of terminal.ts looks for, without tabs and line ends.
const STEERING = new RegExp(
  `(${COLOUR.source})|[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069]`,
  'g',
);
const RESET = '\u001b[0m';

export function createLogText(): LogText {
  let waiting = '';
  let isColoured = false;
  const make = (text: string): string => {
    // A line that overwrites itself could hide what it said: each state of it is a line.
    const lines = text.replace(/\r\n?/g, '\n');
    return lines.replace(STEERING, (_match, colour: string | undefined) => {
      if (colour !== undefined) isColoured = true;
      return colour ?? ' ';
    });
  };
  return {
    add: (text) => {
      const all = waiting + text;
      waiting = UNFINISHED.exec(all)?.[0] ?? '';
      return make(all.slice(0, all.length - waiting.length));
    },
    end: () => {
      const rest = make(waiting);
      waiting = '';
      return isColoured ? rest + RESET : rest;
    },
  };
}
