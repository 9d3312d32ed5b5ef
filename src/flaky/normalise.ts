/** Replaces the parts of a message that differ from run to run, so that the same failure reads the same. */

/** A line number in a file. The file's extension tells it from a port of a host. */
const SOURCE_LINE =
  /(\.(?:[cm]?[jt]sx?|vue|svelte|py|java|kts?|scala|groovy|go|rb|rs|cs|fs|vb|php|cc?|cpp|cxx|hh?|hpp|swift|mm?|exs?|erl|clj|dart|lua|pl|sh|feature))(?:\(\d+(?:,\d+)?\)|:\d+(?::\d+)?)/g;

const RULES: readonly (readonly [RegExp, string])[] = [
  // biome-ignore lint/suspicious/noControlCharactersInRegex: terminals write them
  [/\u001b\[[0-9;?]{0,32}[A-Za-z]/g, ''],
  [/\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?/g, '<time>'],
  [
    /\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? \w{1,9} \w{1,9}(?: \d{4})?,? \d\d:\d\d:\d\d(?: (?:GMT|UTC|[+-]\d{4}|\d{4}))?/g,
    '<time>',
  ],
  [/\b\d{1,2}:\d\d:\d\d(?:[.,]\d{1,9})?/g, '<time>'],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '<uuid>'],
  [/\b\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?\b/g, '<ip>'],
  [/\[?(?:[0-9a-f]{1,4}:){4,7}[0-9a-f]{1,4}\]?(?::\d{1,5})?/gi, '<ip>'],
  [SOURCE_LINE, '$1'],
  [/\b(localhost|[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}):\d{2,5}\b/g, '$1:<port>'],
  [/\b0x[0-9a-f]+\b/gi, '<hex>'],
  [/@[0-9a-f]{5,16}\b/gi, '@<hex>'],
  [/\b(?=[0-9a-f]{0,64}\d)(?=[0-9a-f]{0,64}[a-f])[0-9a-f]{7,128}\b/gi, '<hex>'],
  // Keeps the file's name of a path, not the machine's folders.
  [/(?<![\w<])(?:file:\/\/)?(?:[A-Za-z]:)?(?:[\\/][\w.@+~-]{1,100}){1,40}[\\/]([\w.@+~-]{1,100})/g, '<path>/$1'],
  [/(?<![\w./\\<])(?:\.{1,2}[\\/])?(?:[\w.@+-]{1,100}[\\/]){1,40}([\w@+-]{1,100}\.[A-Za-z]{1,5}\b)/g, '<path>/$1'],
  [/\bline \d+/gi, 'line <n>'],
  [/\b\d+(?:[.,]\d+)? ?(?:ns|us|µs|ms|millis(?:econd)?s?|s|secs?|seconds?|m|mins?|minutes?|h|hours?)\b/g, '<duration>'],
  // Names generated for one run: tmp.Xa83kd, pytest-of-root-12, junit8273645.
  [/\b((?:tmp|temp)[._-]?)(?=[\w-]{0,40}[\dA-Z])[\w-]{4,40}/g, '$1<name>'],
  [/(?<![\w.])[-+]?\d+(?:[.,_]\d+)*(?:e[-+]?\d+)?%?(?!\w)/gi, '<n>'],
  [/\d{3,}/g, '<n>'],
  [/\s+/g, ' '],
];

export function normalise(text: string): string {
  return RULES.reduce((normal, [pattern, placeholder]) => normal.replace(pattern, placeholder), text).trim();
}
