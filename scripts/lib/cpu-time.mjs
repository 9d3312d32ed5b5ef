import { readFileSync } from 'node:fs';

/** Of this process and, on Linux, of the processes it started and waited for: git and servers do most of the work. */
export function usedCpuMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000 + childrenCpuMs();
}

function childrenCpuMs() {
  try {
    const text = readFileSync('/proc/self/stat', 'utf8');
    // Clock ticks of 10 ms; the command's name, which may have spaces, ends with the last parenthesis.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[13]) + Number(fields[14])) * 10;
  } catch {
    return 0;
  }
}
