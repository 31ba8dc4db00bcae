<?php
// SPDX-License-Identifier: Apache-2.0
// Fixed work for PHP: functions, arrays, strings, exceptions. Writes the CPU time it took, in nanoseconds, to the file
// it is given.
function cpu_ns(): int
{
    $usage = getrusage();
    return ($usage['ru_utime.tv_sec'] + $usage['ru_stime.tv_sec']) * 1000000000
        + ($usage['ru_utime.tv_usec'] + $usage['ru_stime.tv_usec']) * 1000;
}

function item(int $i): array
{
    return ['id' => $i, 'name' => "n$i", 'tags' => [$i, $i + 1]];
}

function work(): int
{
    $total = 0;
    for ($turn = 0; $turn < 20; $turn++) {
        $items = [];
        for ($i = 0; $i < 20000; $i++) {
            $items[] = item($i);
        }
        usort($items, fn($a, $b) => $b['id'] <=> $a['id']);
        $total += count(json_decode(json_encode($items), true));
        for ($i = 0; $i < 100; $i++) {
            try {
                throw new InvalidArgumentException('planned');
            } catch (InvalidArgumentException $e) {
                $total++;
            }
        }
    }
    return $total;
}

$begin = cpu_ns();
work();
file_put_contents($argv[1], (cpu_ns() - $begin) . "\n");
