-- SPDX-License-Identifier: Apache-2.0
--
-- What a Haskell program's runtime does, with numbers that it tells itself (+RTS -t, +RTS -l): threads that wait for each other,
-- sleep, yield, overflow their stacks and end; collections of both generations; messages, markers and labels. With an argument it
-- waits for a line before it begins; with "busy" other threads run meanwhile.
module Main (main) where

import Control.Concurrent
import Control.Concurrent.STM
import Control.Exception
import Control.Monad
import qualified Data.Map.Strict as Map
import Debug.Trace
import GHC.Conc (labelThread)
import System.Environment
import System.IO
import System.Mem

worker :: MVar Int -> TVar Int -> MVar () -> Int -> IO ()
worker box total done number = do
    forM_ [1 .. 40] $ \turn -> do
        when (turn == 7) $ traceEventIO ("worker " ++ show number ++ " at 7")
        atomically (modifyTVar' total (+ turn))
        putMVar box (number * turn)
        yield
    putMVar done ()

-- Deep enough for more than one chunk of stack.
deep :: Int -> Integer
deep 0 = 0
deep n = 1 + deep (n - 1)

waitForLine :: IO ()
waitForLine = traceMarkerIO "waits" >> putStrLn "ready" >> void getLine

-- Threads that know no end, on every capability.
whileBusy :: IO () -> IO ()
whileBusy action = do
    threads <- forM [0 .. 3] $ \place -> forkOn place (churn place)
    action
    mapM_ killThread threads
  where
    churn :: Int -> IO ()
    churn from = evaluate (sum [from .. from + 1000]) >> churn from

main :: IO ()
main = do
    hSetBuffering stdout LineBuffering
    arguments <- getArgs
    case arguments of
        [] -> return ()
        ["busy"] -> whileBusy waitForLine
        _ -> waitForLine
    traceMarkerIO "begin"
    box <- newEmptyMVar
    total <- newTVarIO 0
    ends <- forM [1 .. 3] $ \number -> do
        done <- newEmptyMVar
        thread <- forkIO (worker box total done number)
        labelThread thread ("worker-" ++ show number)
        return done
    replicateM_ 120 (takeMVar box)
    atomically (readTVar total >>= \sum' -> when (sum' < 2460) retry)
    mapM_ takeMVar ends
    forM_ [1 .. 20 :: Int] $ \turn -> do
        let table = Map.fromList [(key, show (key * turn)) | key <- [1 .. 4000 :: Int]]
        _ <- evaluate (Map.foldl' (\sum' text -> sum' + length text) 0 table)
        when (turn `mod` 10 == 0) performMajorGC
    _ <- evaluate (deep 200000)
    threadDelay 2000
    performMinorGC
    traceMarkerIO "end"
    putStrLn "done"
