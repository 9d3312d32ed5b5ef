import { setQuery } from '../../core/location.ts';
import { mostSlots, RUN_COSTS, type Tried, tellRunCost } from '../../model/simulation.ts';

interface Props {
  readonly present: Tried;
  readonly tried: Tried;
}

/** The settings to try. The address keeps them, so that a link shows the same to others. */
export function Controls({ present, tried }: Props) {
  const isAdaptive = tried.optimizationMode === 'ADAPTIVE';
  const nearest = RUN_COSTS.findIndex((cost) => cost >= tried.runCost);
  const step = nearest === -1 ? RUN_COSTS.length - 1 : nearest;
  return (
    <form class="controls" aria-label="Settings to try" onSubmit={(event) => event.preventDefault()}>
      <Choice
        legend="Line"
        value={tried.mode}
        choices={[
          ['SINGLE', 'Single'],
          ['PARALLEL', 'Parallel'],
        ]}
        onChoose={(mode) => setQuery({ mode: mode.toLowerCase() })}
      />
      <label for="slots">
        Test slots <output for="slots">{tried.concurrency}</output>
      </label>
      <input
        id="slots"
        type="range"
        min={1}
        max={mostSlots(present.concurrency)}
        value={tried.concurrency}
        onInput={({ currentTarget }) => setQuery({ slots: currentTarget.value })}
      />
      <Choice
        legend="Groups and searches"
        value={isAdaptive ? 'yes' : 'no'}
        choices={[
          ['no', 'By settings'],
          ['yes', 'Adaptive'],
        ]}
        onChoose={(adaptive) => setQuery({ adaptive })}
      />
      <label for="run-cost">
        Price of a CI run{' '}
        <output for="run-cost">{isAdaptive ? tellRunCost(tried.runCost) : 'with Adaptive only'}</output>
      </label>
      <input
        id="run-cost"
        type="range"
        min={0}
        max={RUN_COSTS.length - 1}
        value={step}
        disabled={!isAdaptive}
        aria-valuetext={tellRunCost(tried.runCost)}
        onInput={({ currentTarget }) => setQuery({ runCost: String(RUN_COSTS[Number(currentTarget.value)]) })}
      />
      <p class="ends">
        <span>faster</span>
        <span>cheaper</span>
      </p>
    </form>
  );
}

interface ChoiceProps {
  readonly legend: string;
  readonly value: string;
  readonly choices: readonly (readonly [string, string])[];
  readonly onChoose: (value: string) => void;
}

function Choice({ legend, value, choices, onChoose }: ChoiceProps) {
  return (
    <fieldset class="choice">
      <legend>{legend}</legend>
      <div class="range">
        {choices.map(([each, text]) => (
          <button key={each} type="button" aria-pressed={each === value} onClick={() => onChoose(each)}>
            {text}
          </button>
        ))}
      </div>
    </fieldset>
  );
}
