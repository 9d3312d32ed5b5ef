export async function runSimulation(): Promise<void> {}
