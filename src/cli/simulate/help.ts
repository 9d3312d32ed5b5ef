export const HELP = `Plays a queue's policy through, without faults: which settings land how much, how fast, with how many CI runs?

  npm run simulate -- policy [options]

The real engine decides; git answers at once and CI after its time. The same pull requests also go through
  oracle    knows every outcome beforehand: no queue is faster
  serial    one at a time, tested on the head
  window    one line that always hopes for the best, as Zuul has it

Settings
  --set name=value        a setting of the queue, for every column; again for more
  --compare "a=1,b=2"     one column with these settings; again for more columns

A workload that is made up (the default)
  --prs 500, --hours 24   how many pull requests, or for how long they come
  --per-hour 20           how many come in an hour, at random
  --shape flat            or "day": busy from nine to six, quiet at night
  --ci-median 10          minutes a CI run takes; half of them take longer
  --ci-p95 20             and one in twenty longer than this; the same as the median makes all runs equal
  --failure-rate 0.05     pull requests that are broken
  --break-rate 0.01       pull requests that break only together with an earlier one
  --conflict-rate 0.01    pull requests that cannot be merged together with an earlier one
  --targets 0             how many targets there are (for mode=PARALLEL); 0: everything impacts everything
  --targets-per-pr 1      how many of them a pull request impacts

Outcomes of real builds, in their order
  --outcomes file.csv[.gz]   lines of project,median_build_seconds,outcomes (a text of 0 passed, 1 failed)
  --project name             one project; otherwise all, one after the other
  --limit n                  the first n builds of each
  --per-hour, --shape        as above: when builds came is not in the file

What a queue of yours went through
  --data folder           the data folder of a server that is stopped, or a file that "sluice backup" wrote
  --repo host/owner/name  may be left out where there is only one
  --branch main
  --days 7                how far back, from the last thing that happened

All
  --flake-rate 0.01       runs that fail for no reason; 0 unless said with --outcomes and --data
  --git-seconds 0         how long building a commit takes, and landing it
  --window 20             how far the window looks at first; --window-floor 3 at least
  --no-baselines          only the columns of Sluice
  --seed 1                the same seed and options give the same numbers
  --json                  for programs
  --help

Examples
  npm run simulate -- policy
  npm run simulate -- policy --per-hour 40 --set concurrency=20
  npm run simulate -- policy --per-hour 60 --compare "concurrency=10" --compare "concurrency=10,batch=true,batchingMinSize=8"
  npm run simulate -- policy --targets 12 --targets-per-pr 2 --compare "mode=SINGLE" --compare "mode=PARALLEL"
  npm run simulate -- policy --hours 48 --shape day --ci-median 25 --ci-p95 60 --json
  npm run simulate -- policy --outcomes outcomes.csv.gz --project rails --per-hour 6
  npm run simulate -- policy --data ./data --days 7 --compare "concurrency=10,batch=true,batchingMinSize=8"
`;
