package probe

// The parts of Scenarios, for tests of one part.
var (
	RPCScenarios       = rpcScenarios
	ContextScenarios   = contextScenarios
	OperationScenarios = operationScenarios
	HistoryScenarios   = historyScenarios
	StreamScenarios    = streamScenarios
	ParallelScenarios  = parallelScenarios
	ListScenarios      = listScenarios
)
