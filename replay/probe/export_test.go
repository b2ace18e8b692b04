package probe

// The parts of Scenarios, for tests of one part.
var (
	RPCScenarios        = rpcScenarios
	ContextScenarios    = contextScenarios
	OperationScenarios  = operationScenarios
	PushScenarios       = configScenarios
	BindingScenarios    = bindingScenarios
	ExtensionScenarios  = extensionScenarios
	RobustnessScenarios = robustnessScenarios
	HistoryScenarios    = historyScenarios
	AuthScenarios       = authScenarios
	ScriptedScenarios   = scriptedScenarios
	VersionScenarios    = versionScenarios
	StreamScenarios     = actStreams
	ParallelScenarios   = parallelScenarios
	ListScenarios       = listScenarios
	TenantScenarios     = tenantScenarios
	SignatureScenarios  = signatureScenarios

	// PrivateWebhook makes the scenario of a webhook in the agent's own network.
	PrivateWebhook = privateWebhook
)
