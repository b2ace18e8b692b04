package workflow_test

// parallelCards are stories of cards that clients fetch while others do the same: the connection tells whose they are,
// unless a pool of connections may have exchanged them.
var parallelCards = []story{
	{
		"three runs of one program at once", `
		1 ?python>hotel card conn=1
		1 answer
		2 ?python>hotel card conn=2
		2 answer
		3 ?python>hotel card conn=3
		3 answer
		4 ?python>hotel send conn=2
		5 ?python>hotel send conn=1
		4 answer task=b
		6 ?python>hotel send conn=3
		5 answer task=a
		6 answer task=c`, `
		1 under 5 of 5 ~ card of that agent
		2 under 4 of 4 ~ card of that agent
		3 under 6 of 6 ~ card of that agent
		4
		5
		6`,
	},
	{
		"cards that are fetched at the same moment: calls in the order of their answers are of programs of their own", `
		1 ?python>hotel card conn=1
		2 ?python>hotel card conn=2
		1 answer
		2 answer
		3 ?python>hotel send conn=1
		4 ?python>hotel send conn=2
		3 answer task=h
		4 answer task=i`, `
		1 under 3 of 3 ~ card of that agent
		2 under 4 of 4 ~ card of that agent
		3
		4`,
	},
	{
		"but those of one process may be of its pool", `
		1 ann>planner send
		2 bob>planner send
		3 planner>hotel card conn=3
		4 planner>hotel card conn=4
		3 answer
		4 answer
		5 planner>hotel send conn=3
		6 planner>hotel send conn=4`, `
		1
		2
		3 caused by 1 or 2: at the same time, without a common trace
		4 caused by 1 or 2: at the same time, without a common trace
		5 caused by 1 or 2: at the same time, without a common trace
		6 caused by 1 or 2: at the same time, without a common trace`,
	},
	{
		"even if they are fetched one after the other: pools open connections in advance", `
		1 ann>planner send
		2 bob>planner send
		3 planner>hotel card conn=3
		3 answer
		4 planner>hotel card conn=4
		4 answer
		5 planner>hotel send conn=4
		6 planner>hotel send conn=3`, `
		1
		2
		3 caused by 1 or 2: at the same time, without a common trace
		4 caused by 1 or 2: at the same time, without a common trace
		5 caused by 1 or 2: at the same time, without a common trace
		6 caused by 1 or 2: at the same time, without a common trace`,
	},
	{
		"idle connections that are used again may be of one pool", `
		1 ?python>hotel send conn=1
		2 ?python>hotel send conn=2
		1 answer task=a
		2 answer task=b
		3 ?python>hotel card conn=2
		3 answer
		4 ?python>hotel card conn=1
		4 answer
		5 ?python>hotel send conn=1
		6 ?python>hotel send conn=2`, `
		1
		2
		3
		4
		5
		6`,
	},
	{
		"a card that has not come yet is not for the call", `
		1 ?python>hotel card conn=1
		2 ?python>hotel card conn=2
		1 answer
		3 ?python>hotel send conn=1
		2 answer
		4 ?python>hotel send conn=2`, `
		1 under 3 of 3 ~ card of that agent
		2 under 4 of 4 ~ card of that agent
		3
		4`,
	},
	{
		"two fetches at once on one connection, as HTTP/2 has them", `
		1 ?python>hotel card conn=1
		2 ?python>hotel card conn=1
		1 answer
		2 answer
		3 ?python>hotel send conn=1
		4 ?python>hotel send conn=1`, `
		1
		2
		3
		4`,
	},
}
