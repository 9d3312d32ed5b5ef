/** A run of one seed. */
interface Run<Report> {
  go(): Promise<void>;
  close(): Promise<void>;
  noteBug(error: unknown): void;
  report(): Report;
}

/** Every error is a bug that the report names, also an unhandled rejection. */
export async function runToItsEnd<Report>(run: Run<Report>): Promise<Report> {
  const onRejection = (error: unknown) => run.noteBug(error);
  process.on('unhandledRejection', onRejection);
  try {
    await run.go();
  } catch (error) {
    run.noteBug(error);
  } finally {
    await run.close().catch(onRejection);
    process.off('unhandledRejection', onRejection);
  }
  return run.report();
}
