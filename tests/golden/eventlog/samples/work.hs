-- SPDX-License-Identifier: Apache-2.0
module Main (main) where
import Control.Concurrent
import Control.Concurrent.MVar
import Control.Concurrent.STM
import Control.Exception
import Control.Monad
import qualified Data.Map.Strict as M
import Debug.Trace
import GHC.Conc (labelThread)
import System.Mem

-- threads that block on MVars, delays, STM and each other; two collections asked for; user messages and markers
main :: IO ()
main = do
  traceMarkerIO "start"
  box <- newEmptyMVar
  tv <- newTVarIO (0 :: Int)
  done <- forM [1 .. 3 :: Int] $ \i -> do
    d <- newEmptyMVar
    t <- forkIO $ do
      forM_ [1 .. 20 :: Int] $ \k -> do
        when (k == 7) $ traceEventIO ("worker " ++ show i ++ " at 7")
        atomically (modifyTVar' tv (+ k))
        putMVar box (i * k)
        yield
      putMVar d ()
    labelThread t ("worker-\955-" ++ show i)
    return d
  forM_ [1 .. 60 :: Int] $ \_ -> takeMVar box
  atomically (readTVar tv >>= \v -> when (v < 630) retry)
  mapM_ takeMVar done
  let m = M.fromList [(k, show k) | k <- [1 .. 2000 :: Int]]
  _ <- evaluate (M.foldl' (\a s -> a + length s) 0 m)
  performMajorGC
  k <- forkIO (threadDelay 10000000)
  threadDelay 1000
  killThread k
  performMinorGC
  traceMarkerIO "end"
  print (M.size m)
