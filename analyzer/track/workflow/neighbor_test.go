package workflow_test

// neighbors are stories about calls of models and tools.
var neighbors = []story{
	{
		"a planner asks a model, calls the tool that it asked for, and delegates", `
		1 user>planner send
		2 planner>llm model
		2 answer asks=weather city=Oslo
		3 planner>weather tool name=weather city=Oslo
		3 answer
		4 planner>booker send
		4 answer task=b
		5 planner>llm model
		5 answer
		1 answer task=p
		6 planner>llm model`, `
		1
		2 under 1 of 1 ~ made while answering
		3 under 2 of 1 ~ the model asked for it
		4 under 1 of 1 ~ made while answering
		5 under 1 of 1 ~ made while answering
		6`,
	},
	{
		"the framework puts the server's name before that of the tool", `
		1 app>llm model
		1 answer asks=mcp__geo_weather city=Oslo
		2 app>geo tool name=weather city=Oslo`, `
		1
		2 under 1 of 1 ~ the model asked for it`,
	},
	{
		"one program, whose libraries have names of their own",
		`
		1 ?openai>llm model
		1 answer asks=weather city=Oslo
		2 ?httpx>geo tool name=weather city=Oslo`, `
		1
		2 under 1 of 1 ~ the model asked for it`,
	},
	{
		"another city, another tool, another client, and a second call for the same answer", `
		1 app>llm model
		1 answer asks=weather city=Oslo
		2 app>geo tool name=weather city=Bergen
		3 app>geo tool name=eather city=Oslo
		4 other>geo tool name=weather city=Oslo
		5 app>geo tool name=weather city=Oslo
		6 app>geo tool name=weather city=Oslo`, `
		1
		2
		3
		4
		5 under 1 of 1 ~ the model asked for it
		6`,
	},
	{
		"two answers ask for the same: nothing decides", `
		1 app>llm model
		2 app>llm model
		1 answer asks=weather city=Oslo
		2 answer asks=weather city=Oslo
		3 app>geo tool name=weather city=Oslo`, `
		1
		2
		3`,
	},
	{
		"the model is sent the result: that proves it", `
		1 app>llm model
		1 answer asks=weather city=Oslo id=a
		2 app>geo tool name=weather city=Oslo
		2 answer
		3 app>llm model results=a
		3 answer asks=weather city=Bergen id=b
		4 app>geo tool name=weather city=Bergen
		4 answer
		5 app>llm model results=a,b`, `
		1
		2 under 1 of 1 = the model asked for it
		3
		4 under 3 of 3 = the model asked for it
		5`,
	},
	{
		"the result of another call, another client's, and one that came too early", `
		1 app>llm model
		1 answer asks=weather city=Oslo id=a
		2 app>geo tool name=weather city=Oslo
		3 app>llm model results=a
		2 answer
		4 app>llm model results=b
		5 other>llm model results=a
		6 ?app>llm model results=a`, `
		1
		2 under 1 of 1 ~ the model asked for it
		3
		4
		5
		6`,
	},
	{
		"an id that a model gives again", `
		1 app>llm model
		2 app>llm model
		1 answer asks=weather city=Oslo id=a
		2 answer asks=weather city=Bergen id=a
		3 app>geo tool name=weather city=Oslo
		3 answer
		4 app>llm model results=a`, `
		1
		2
		3 under 1 of 1 ~ the model asked for it
		4`,
	},
	{
		"unknown programs", `
		1 ?openai>llm model
		1 answer asks=weather city=Oslo id=a
		2 ?httpx>geo tool name=weather city=Oslo
		2 answer
		3 ?openai>llm model results=a`, `
		1
		2 under 1 of 1 ~ the model asked for it
		3`,
	},
	{
		"a planner that answers two users", `
		1 ann>planner send
		2 bob>planner send
		3 planner>llm model`, `
		1
		2
		3 caused by 1 or 2: at the same time, without a common trace`,
	},
	{
		"the trace tells for which of them", `
		1 ann>planner send trace=a/1
		2 bob>planner send trace=b/1
		3 planner>llm model trace=b/2`, `
		1
		2
		3 under 2 of 2 = same trace`,
	},
	{
		"an unknown program, while one call is open, and then while two are", `
		1 user>planner send
		2 ?python>llm model
		3 user>booker send
		4 ?python>llm model
		1 answer task=p
		3 answer task=b
		5 ?python>llm model`, `
		1
		2 under 1 of 1 ~ made while no other call was open
		3
		4 caused by 1 or 3: at the same time, without a common trace
		5`,
	},
	{
		"the client of the only open call may be the one that asks", `
		1 ?python>planner send
		2 ?python>llm model`, `
		1
		2`,
	},
	{
		"calls of models cause no A2A calls", `
		1 planner>llm model
		2 planner>booker send
		2 answer task=b
		1 answer`, `
		1
		2`,
	},
}
