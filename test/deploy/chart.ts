import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../e2e/harness.ts';
import { ROOT } from '../helpers/doc-pages.ts';
import { has, need, run } from './tools.ts';

const CHART = join(ROOT, 'deploy/helm/sluice');
const SECRET = ['--set', 'existingSecret=sluice'];
const VERSIONS = ['1.25.0', '1.31.0', '1.37.0'];
/** Everything that is off by default. */
const ALL = [
  ...SECRET,
  ...['--set', 'networkPolicy.enabled=true,networkPolicy.from[0].namespaceSelector.matchLabels.name=web'],
  ...['--set', 'runner.enabled=true,persistence.enabled=false'],
  ...['--set', 'ingress.enabled=true,ingress.host=sluice.acme.dev,ingress.tlsSecretName=tls'],
  ...['--set', 'serviceMonitor.enabled=true,serviceMonitor.tokenSecret.name=prometheus,prometheusRule.enabled=true'],
  ...['--set', 'config.SLUICE_URL=https://sluice.acme.dev'],
];
const WRONG: readonly (readonly [values: readonly string[], sentence: RegExp])[] = [
  [[], /existingSecret: name a Secret/],
  [[...SECRET, '--set', 'config.SLUICE_ADMIN_TOKEN=x'], /invalid propertyName 'SLUICE_ADMIN_TOKEN'/],
  [[...SECRET, '--set', 'config.SLUICE_PROT=1'], /invalid propertyName 'SLUICE_PROT'/],
  [[...SECRET, '--set', 'replicas=3'], /additional properties 'replicas' not allowed/],
];

export async function checkChart(): Promise<string> {
  need('helm', 'go install helm.sh/helm/v3/cmd/helm@v3.22.0');
  const template = (values: readonly string[], version = '1.31.0') =>
    run('helm', ['template', 'release', CHART, '--kube-version', version, ...values]);
  await run('helm', ['lint', '--strict', CHART, ...SECRET]);
  for (const [values, sentence] of WRONG) {
    const said = await template(values).then(
      () => 'nothing',
      (error: Error) => error.message,
    );
    if (!sentence.test(said)) throw new Error(`helm template ${values.join(' ')} says: ${said}`);
  }
  const folder = await makeFolder();
  for (const version of VERSIONS) {
    for (const [name, values] of Object.entries({ defaults: SECRET, all: ALL })) {
      const file = join(folder, `${name}.yaml`);
      await writeFile(file, await template(values, version));
      if (has('kubernetes-validate'))
        await run('kubernetes-validate', ['--strict', '--kubernetes-version', version, file]);
    }
  }
  const validated = has('kubernetes-validate')
    ? `what it renders fits the schemas of Kubernetes ${VERSIONS.join(', ')}`
    : 'what it renders is not compared with schemas, for kubernetes-validate is not installed (pip install kubernetes-validate)';
  return `helm lints the chart and refuses wrong values; ${validated}.`;
}
