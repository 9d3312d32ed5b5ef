/** Reads the frames of a stack trace of any known language, without line numbers: file name and function name. */

const MAX_FRAMES = 3;
const MAX_LINE_LENGTH = 1_000;

interface Frame {
  readonly text: string;
  readonly isLibrary: boolean;
}

/** Library code is in every trace, and says nothing about this failure. */
const LIBRARY =
  /node_modules[\\/]|\bnode:|\binternal\/|site-packages|dist-packages|lib\/python|<frozen |[\\/]gems[\\/]|[\\/]vendor[\\/]|\/rustc\/|[\\/]\.cargo[\\/]|[\\/]go\/src[\\/]|\bgoexit\b|\btesting\.|testing\.go|\bruntime[./]|\bjava\.base[/.]|^(?:java|javax|jdk|sun|org\.junit|junit|org\.gradle|org\.apache\.maven|org\.hamcrest|org\.assertj|org\.mockito|kotlin|scala)\.|\b(?:System|NUnit|Xunit|Microsoft)\.|PHPUnit\\|\bstd::|\bcore::|\balloc::|__rust|rust_begin_unwind/;

type Reader = (line: string) => { readonly file: string; readonly fn: string } | undefined;

const by = (pattern: RegExp, file: number, fn: number): Reader => {
  return (line) => {
    const match = pattern.exec(line);
    return match === null ? undefined : { file: match[file] ?? '', fn: fn === 0 ? '' : (match[fn] ?? '') };
  };
};

const READERS: readonly Reader[] = [
  // Python: File "/app/cart.py", line 12, in add
  by(/^File "([^"]{1,400})", line \d+(?:, in (\S{1,200}))?/, 1, 2),
  // C#: at Shop.Cart.Add(Int32 n) in /src/Cart.cs:line 12
  by(/^at ([^()]{1,300})\([^)]{0,300}\) in (.{1,400}):line \d+/, 2, 1),
  // Java: at java.base/java.util.List.of(List.java:12)
  by(/^at ([\w.$/@<>-]{1,300})\(([\w.$-]{1,200}(?::\d+)?|Native Method|Unknown Source)\)/, 2, 1),
  // JavaScript: at fn (file:///a/b.js:1:2), at async a/b.js:1:2
  by(/^at (?:async )?([^()]{1,200}?) \(([^()]{1,400}?):\d+:\d+\)/, 2, 1),
  by(/^at (?:async )?([^\s()]{1,400}?):\d+:\d+$/, 1, 0),
  by(/^([^@\s]{0,200})@([^@\s]{1,400}?):\d+:\d+$/, 2, 1),
  // Ruby: ./spec/cart_spec.rb:12:in `block'
  by(/^(?:# )?([^\s:]{1,300}\.(?:rb|erb|rake)):\d+(?::in [`'"](.{1,200})['"])?/, 1, 2),
  // PHP: #0 /app/Cart.php(12): Cart->add()
  by(/^#\d+ (\S{1,300}\.php)\(\d+\): ([^(]{1,200})/, 1, 2),
  by(/^(\S{1,300}\.php):\d+$/, 1, 0),
  // Rust: thread 'x' panicked at src/cart.rs:12:5; at ./src/cart.rs:12:5; 3: shop::cart::add
  by(/\bpanicked at (?:'.{0,300}', )?([^\s:]{1,300}\.rs):\d+/, 1, 0),
  by(/^at (\S{1,300}\.rs):\d+/, 1, 0),
  by(/^\d+: (?:0x[0-9a-f]+ - )?((?:[\w<>{}#]+::)+[\w<>{}#]+)/, 0, 1),
  // Go: shop.(*Cart).Add(0x1400), /src/cart.go:12 +0x1d, cart_test.go:12: message
  by(/^([\w./-]{1,200}\.[\w.()*[\]]{1,200})\((?:0x[0-9a-f?, .x]*|\.\.\.|\{?0x.{0,200})\)$/, 0, 1),
  by(/^([^\s:]{1,300}\.go):\d+(?:$|:| \+0x)/, 1, 0),
  // pytest: tests/test_cart.py:12: AssertionError
  by(/^([^\s:]{1,300}\.py):\d+:/, 1, 0),
];

/** The frames nearest to the failure, own code before libraries. */
export function topFrames(trace: string): readonly string[] {
  const lines = trace.split('\n');
  // Python prints the outermost call first.
  if (trace.includes('File "')) lines.reverse();
  const own: string[] = [];
  const libraries: string[] = [];
  for (const line of lines) {
    const frame = line.length > MAX_LINE_LENGTH ? undefined : readFrame(line.trim());
    if (frame !== undefined) (frame.isLibrary ? libraries : own).push(frame.text);
    if (own.length === MAX_FRAMES) break;
  }
  return own.length > 0 ? own : libraries.slice(0, MAX_FRAMES);
}

export function isFrame(line: string): boolean {
  return line.length <= MAX_LINE_LENGTH && readFrame(line.trim()) !== undefined;
}

function readFrame(line: string): Frame | undefined {
  for (const read of READERS) {
    const found = read(line);
    if (found !== undefined) return frameOf(line, found);
  }
  return undefined;
}

function frameOf(line: string, { file, fn }: { readonly file: string; readonly fn: string }): Frame {
  const name = file === line ? '' : baseName(file);
  return { text: `${name} ${stableName(fn)}`.trim(), isLibrary: LIBRARY.test(file) || LIBRARY.test(fn) };
}

function baseName(path: string): string {
  const name = path.split(/[\\/]/).at(-1) ?? path;
  return name.replace(/[?#].*$/, '').replace(/(?::\d+)+$/, '');
}

/** Compilers number unnamed code: lambdas, closures, generated classes. */
function stableName(fn: string): string {
  return fn
    .replace(/^[\w.]+\//, '')
    .replace(/0x[0-9a-f]+/gi, '')
    .replace(/::h[0-9a-f]{16}$/, '')
    .replace(/\d+/g, '#');
}
