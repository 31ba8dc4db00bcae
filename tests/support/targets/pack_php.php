<?php
// SPDX-License-Identifier: Apache-2.0
//
// Counts what it makes PHP do. On the command line it speaks like the programs beside it (README.md); as a page it answers at once.
class Failure extends RuntimeException
{
}

class Worker
{
    public function fail()
    {
        throw new Failure("as told");
    }

    public static function step($i)
    {
        return $i + 1;
    }
}

function work()
{
    $calls = 0;
    for ($i = 0; $i < 1000; $i++) {
        $calls = Worker::step($calls);
    }
    $caught = 0;
    for ($i = 0; $i < 5; $i++) {
        try {
            (new Worker)->fail();
        } catch (Failure $failure) {
            $caught++;
        }
    }
    return ["pid" => getmypid(), "calls" => $calls, "caught" => $caught];
}

if (PHP_SAPI === "cli") {
    echo json_encode(["ready" => getmypid()]), "\n";
    fgets(STDIN);
    echo json_encode(work()), "\n";
    fgets(STDIN);
} else {
    echo json_encode(work()), "\n";
}
