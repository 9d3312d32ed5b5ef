import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { BY_SCRIPT, type Edit, once, type Planted, type Project, replaceIn, run } from './project.ts';

const MODULE = { path: 'github.com/hashicorp/go-version', version: 'v1.9.0' };
const GOTESTSUM = 'gotest.tools/gotestsum@v1.13.0';

const BODIES: Readonly<Record<Planted, string>> = {
  random10: 'func TestPlantedRandom10(t *testing.T) { failIf(t, draw() < 0.1) }\n',
  random20: 'func TestPlantedRandom20(t *testing.T) { failIf(t, draw() < 0.2) }\n',
  clock: 'func TestPlantedClock(t *testing.T) { failIf(t, time.Now().Second() < 5) }\n',
  order: `func TestLeaves(t *testing.T) { failIf(t, false) }
func TestTidies(t *testing.T) { failIf(t, false) }
func TestTidiesToo(t *testing.T) { failIf(t, false) }
func TestTidiesAsWell(t *testing.T) { failIf(t, false) }
func TestPlantedOrder(t *testing.T) { failIf(t, last == "TestLeaves") }
`,
};

/** With -shuffle=on, the test before is another one in every run. */
const HEAD = `package version

import (
	"math/rand"
	"testing"
	"time"
)

var last string
var random = rand.New(rand.NewSource(time.Now().UnixNano()))

func draw() float64 { return random.Float64() }

func failIf(t *testing.T, isSo bool) {
	last = t.Name()
	if isSo {
		t.Fatal("not this time")
	}
}

`;

function planted(names: readonly Planted[]): Edit {
  return { 'planted_test.go': `${HEAD}${names.map((name) => BODIES[name]).join('')}` };
}

function testFile(text: string): string {
  return `package version\n\nimport "testing"\n\n${text}\n`;
}

export async function prepareGo(cache: string): Promise<Project> {
  const { path, version } = MODULE;
  const tools = await once(join(cache, 'go-tools'), (unfinished) =>
    run(unfinished, ['go', 'install', GOTESTSUM], { GOBIN: unfinished }),
  );
  const folder = await once(join(cache, `go-${version}`), async (unfinished) => {
    const { Dir } = JSON.parse(await run(cache, ['go', 'mod', 'download', '-json', `${path}@${version}`]));
    await cp(Dir, unfinished, { recursive: true });
    await run(unfinished, ['chmod', '-R', 'u+w', '.']);
  });
  // Compiled packages of Go itself, without which every check would take half a minute. Checks of all users write there.
  const builds = await once(join(cache, 'go-builds'), async (unfinished) => {
    await run(folder, ['go', 'test', '-count=1', '-vet=off', './...'], { GOCACHE: unfinished });
    await run(unfinished, ['chmod', '-R', 'a+rwX', '.']);
  });
  const test = `${tools}/gotestsum --format dots --junitfile report.xml -- -count=1 -vet=off -shuffle=on ./...`;
  const variables = `GOCACHE=${builds} GOPROXY=off GOTOOLCHAIN=local GOFLAGS=-buildvcs=false`;
  return {
    name: 'go',
    folder,
    check: `export ${variables} && sh test.sh`,
    environment: { SLUICE_RUNNER_TOOLS: tools, SLUICE_RUNNER_CACHES: builds },
    planted: (names) => ({ ...planted(names), ...BY_SCRIPT.script(test) }),
    flaky: (number) => ({
      [`flaky_${number}_test.go`]: testFile(`func TestPlantedFlaky${number}(t *testing.T) { failIf(t, draw() < 0.4) }`),
    }),
    code: (number) => ({
      [`extra_${number}.go`]: `package version\n\nfunc extra${number}() int { return ${number} }\n`,
      [`extra_${number}_test.go`]: testFile(
        `func TestExtra${number}(t *testing.T) {\n\tif extra${number}() != ${number} {\n\t\tt.Fatal()\n\t}\n}`,
      ),
    }),
    breaks: [
      await replaceIn(folder, 'version.go', 'return v.Compare(o) < 0', 'return v.Compare(o) <= 0'),
      await replaceIn(folder, 'constraint.go', 'prereleaseCheck(v, c) && v.Compare(c) == 1', 'v.Compare(c) == 1'),
    ],
    build: { 'broken.go': 'package version\n\nfunc broken( {\n' },
    ...BY_SCRIPT,
  };
}
