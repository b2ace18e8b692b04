package kept

// code stands for the code that judges. TestCode says when it has to be another, and writes it.
const code = "99cc59f5c50cd64d"
