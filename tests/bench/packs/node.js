// SPDX-License-Identifier: Apache-2.0
// Fixed work for Node.js: short-lived objects, JSON, a few thousand turns of the event loop. Writes the CPU time it took,
// in nanoseconds, to the file it is given.
'use strict';
const fs = require('fs');

function items() {
    const made = [];
    for (let i = 0; i < 20000; i++) made.push({ id: i, name: 'n' + i, tags: [i, i + 1] });
    return made;
}

function work() {
    let total = 0;
    for (let turn = 0; turn < 15; turn++) {
        const made = items();
        total += JSON.parse(JSON.stringify(made)).length;
        total += made.sort((a, b) => b.id - a.id)[0].id;
    }
    return total;
}

function turns(left, then) {
    if (left === 0) then();
    else setImmediate(turns, left - 1, then);
}

const begin = process.cpuUsage();
work();
turns(3000, () => {
    const used = process.cpuUsage(begin);
    fs.writeFileSync(process.argv[2], `${(used.user + used.system) * 1000}\n`);
});
