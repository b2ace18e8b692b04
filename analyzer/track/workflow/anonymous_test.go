package workflow_test

// unknownCallers are stories in which the names of clients say nothing of who they are.
var unknownCallers = []story{
	{
		"a notification that is being delivered causes nothing, although its receiver has the client's name", `
		1 ?python>hotel send push=http://python:9000/hook
		1 answer task=h state=working
		2 hotel>python hook task=h
		3 ?python>car send
		4 python>car send
		3 answer task=c
		4 answer task=d
		2 answer`, `
		1
		2 under 1 of 1 = notification of its task
		3
		4`,
	},
	{
		"an agent that is called as a library calls itself", `
		1 user>python send
		2 ?python>hotel send
		2 answer task=h
		1 answer task=p`, `
		1
		2 unknown caller`,
	},
	{
		"two programs of one library: which of them fetched the card, the connection says", `
		1 ?python>hotel card conn=1
		1 answer
		2 ?python>hotel send conn=2
		2 answer task=h
		3 ?python>car card conn=3
		3 answer
		4 ?python>car send conn=3
		4 answer task=c`, `
		1
		2
		3 under 4 of 4 ~ card of that agent
		4`,
	},
	{
		"a library whose program takes a connection for whatever comes next", `
		1 ?python>hotel card conn=1
		2 ?python>hotel card conn=2
		1 answer
		2 answer
		3 ?python>hotel send conn=2
		4 ?python>hotel send conn=1
		3 answer task=h
		4 answer task=i`, `
		1
		2
		3
		4`,
	},
	{
		"an agent whose process was not recognised each time", `
		1 user>planner send
		2 user>planner send
		3 ?python>hotel card conn=1
		4 planner>hotel card conn=2
		3 answer
		4 answer
		5 planner>hotel send conn=1
		6 planner>hotel send conn=2`, `
		1
		2
		3
		4 caused by 1 or 2: at the same time, without a common trace
		5 caused by 1 or 2: at the same time, without a common trace
		6 caused by 1 or 2: at the same time, without a common trace`,
	},
	{
		"a client of whose connections nothing is known", `
		1 ?python>hotel card
		1 answer
		2 ?python>hotel send
		2 answer task=h`, `
		1
		2`,
	},
	{
		"a trace, a context and a task say what a name does not", `
		1 ?user>planner send trace=a/1 context=c1
		2 ?python>hotel send trace=a/2
		3 ?python>car send context=c1
		2 answer task=h
		3 answer task=c
		4 ?python>hotel get task=h
		4 answer task=h
		1 answer task=p context=c1`, `
		1
		2 under 1 of 1 ~ same trace
		3 under 1 of 1 ~ same context
		4 under 2 of 1 = same task`,
	},
	{
		"a chain that hands a text on: either of the first two may have asked the third", `
		1 ?user>planner send text=a_room_in_Kyoto_please
		2 ?python>hotel send text=a_room_in_Kyoto_please
		3 ?node>payer send text=a_room_in_Kyoto_please
		3 answer task=x
		2 answer task=h
		1 answer task=p`, `
		1
		2 under 1 of 1 ~ same content
		3 caused by 1 or 2: at the same time, without a common trace`,
	},
	{
		"a text that an agent which is not tapped hands to several says nothing of who calls", `
		1 ?python>hotel send text=a_room_in_Kyoto_please
		2 ?python>car send text=a_room_in_Kyoto_please
		3 ?python>flight send text=a_room_in_Kyoto_please
		1 answer task=h
		2 answer task=c
		3 answer task=f`, `
		1
		2 unknown caller
		3 unknown caller`,
	},
	{
		"a chain whose agents all have one library, for two users", `
		1 ?user>planner send text=a_room_in_Kyoto_please
		2 ?user>planner send text=a_room_in_Kyoto_please
		3 ?python>hotel send text=a_room_in_Kyoto_please
		4 ?python>payer send text=a_room_in_Kyoto_please
		4 answer task=x
		3 answer task=h
		1 answer task=p
		2 answer task=q`, `
		1
		2
		3 caused by 1 or 2: at the same time, without a common trace
		4 caused by 1, 2 or 3: at the same time, without a common trace`,
	},
	{
		"a chain whose agents all have the library of the user", `
		1 ?python>planner send
		2 ?python>hotel send
		2 answer task=h
		1 answer task=p`, `
		1
		2 unknown caller`,
	},
	{
		"one program that asks two agents on one connection each", `
		1 planner>hotel send conn=1
		2 planner>car send conn=2
		1 answer task=h
		2 answer task=c`, `
		1
		2`,
	},
	{
		"a context that an agent of two users has made is named before they know it: by an agent that is not tapped", `
		1 ?user>planner send
		2 ?user>planner send
		3 ?python>payer send context=c2
		4 ?python>payer send context=c1
		3 answer task=x context=c2
		4 answer task=y context=c1
		1 answer task=p context=c1
		2 answer task=q context=c2`, `
		1
		2
		3 under 2 of 2 ~ same context
		4 under 1 of 1 ~ same context`,
	},
}
