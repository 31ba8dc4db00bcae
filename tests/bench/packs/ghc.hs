-- SPDX-License-Identifier: Apache-2.0
--
-- Fixed work of a Haskell program: `ghc gc FILE` builds tables, so that it collects some hundred times a second; `ghc switch FILE`
-- passes a number between two threads that wait for each other, so that it switches all the time. Writes the CPU time it took,
-- in nanoseconds, to FILE.
module Main (main) where

import Control.Concurrent
import Control.Exception
import Control.Monad
import qualified Data.Map.Strict as Map
import System.CPUTime (getCPUTime)
import System.Environment

collect :: IO ()
collect = forM_ [1 .. 1500 :: Int] $ \turn -> do
    let table = Map.fromList [(key * 7919 `mod` 10007, key * turn) | key <- [1 .. 4000 :: Int]]
    evaluate (Map.foldl' (+) 0 table)

-- Two switches a turn.
switch :: IO ()
switch = do
    there <- newEmptyMVar
    back <- newEmptyMVar
    _ <- forkIO (forever (takeMVar there >>= putMVar back . (+ 1)))
    let turn :: Int -> Int -> IO Int
        turn 0 number = return number
        turn left number = putMVar there number >> takeMVar back >>= turn (left - 1)
    void (turn 100000 0 >>= evaluate)

main :: IO ()
main = do
    [work, path] <- getArgs
    begin <- getCPUTime
    if work == "gc" then collect else switch
    end <- getCPUTime
    writeFile path (show ((end - begin) `div` 1000))
