-- SPDX-License-Identifier: Apache-2.0
--
-- The independent judge of eventlogs: what the ghc-events library, on which every reader of eventlogs
-- stands, makes of a file. Run by the tests through tests/support/fixtures/eventlog_checker.
--
--   evcheck raw FILE       one line an event: time in ns, capability, text; in the order of the file
--   evcheck show FILE      the same, sorted by time as the library's tools do
--   evcheck validate FILE  what each of the library's six state machines says
--
-- Status 0: good; 1: usage, or no such file; 2: a machine refuses; 3: the file cannot be decoded to its
-- end. The library's own readEventLogFromFile hides an error in the middle of a file and gives what came
-- before it; so this asks the incremental decoder, which tells.
module Main (main) where

import Control.Exception (SomeException, displayException, evaluate, try)
import Control.Monad (forM)
import qualified Data.ByteString.Lazy as Lazy
import GHC.RTS.Events
import GHC.RTS.Events.Analysis
import GHC.RTS.Events.Analysis.Capability
import GHC.RTS.Events.Analysis.SparkThread
import GHC.RTS.Events.Analysis.Thread
import GHC.RTS.Events.Incremental (readEventLog)
import System.Environment (getArgs)
import System.Exit
import System.IO

main :: IO ()
main = do
  mapM_ (`hSetEncoding` utf8) [stdout, stderr]
  arguments <- getArgs
  case arguments of
    ["raw", path] -> load path >>= printLines
    ["show", path] -> load path >>= printLines . sortEvents
    ["validate", path] -> load path >>= judge . sortEvents
    _ -> hPutStrLn stderr "usage: evcheck raw|show|validate FILE" >> exitWith (ExitFailure 1)

refused, undecodable :: ExitCode
refused = ExitFailure 2
undecodable = ExitFailure 3

stopUndecodable :: String -> IO a
stopUndecodable reason = hPutStrLn stderr reason >> exitWith undecodable

-- All events, or the end of the program. Malformed files make some versions of the library throw from
-- within the list, so all of it is looked at here.
load :: FilePath -> IO [Event]
load path = do
  bytes <- Lazy.readFile path
  outcome <- try (evaluate (force (readEventLog bytes)))
  case outcome of
    Left failure -> stopUndecodable ("exception: " ++ firstLine (failure :: SomeException))
    Right (Left reason) -> stopUndecodable ("header: " ++ reason)
    Right (Right (eventLog, Just reason)) ->
      stopUndecodable ("after " ++ show (length (eventsOf eventLog)) ++ " events: " ++ reason)
    Right (Right (eventLog, Nothing)) -> return (eventsOf eventLog)
 where
  eventsOf = events . dat
  force result = case result of
    Right (eventLog, failure) -> length (eventsOf eventLog) `seq` failure `seq` result
    Left reason -> length reason `seq` result

firstLine :: SomeException -> String
firstLine = takeWhile (/= '\n') . displayException

-- A text may fail only when it is made (a binary message that is no UTF-8, before 0.18).
printLines :: [Event] -> IO ()
printLines = mapM_ $ \event -> do
  let text = line event
  outcome <- try (evaluate (length text))
  case outcome of
    Left failure ->
      stopUndecodable ("showing the event at " ++ show (evTime event) ++ ": "
                       ++ firstLine (failure :: SomeException))
    Right _ -> putStrLn text

line :: Event -> String
line event =
  show (evTime event) ++ " cap=" ++ maybe "-" show (evCap event) ++ " "
  ++ showEventInfo (evSpec event)

-- The machines that `ghc-events validate` knows.
judge :: [Event] -> IO ()
judge sorted = do
  verdicts <- forM
    [ ("threads", verdict (validate
        (routeM capabilityThreadRunMachine capabilityThreadIndexer (refineM evSpec threadMachine))
        sorted))
    , ("threadpool", verdict (validate capabilityThreadPoolMachine sorted))
    , ("threadrun", verdict (validate capabilityThreadRunMachine sorted))
    , ("taskpool", verdict (validate capabilityTaskPoolMachine sorted))
    , ("tasks", verdict (validate capabilityTaskOSMachine sorted))
    , ("sparks", verdict (validate
        (routeM capabilitySparkThreadMachine capabilitySparkThreadIndexer
                (refineM evSpec sparkThreadMachine))
        sorted))
    ] $ \(title, refusal) -> do
      putStrLn (title ++ ": " ++ maybe "valid" ("INVALID at " ++) refusal)
      return (refusal == Nothing)
  putStrLn (show (length sorted) ++ " events")
  if and verdicts then exitSuccess else exitWith refused

-- The event at which a machine stopped.
verdict :: Either (state, Event) final -> Maybe String
verdict = either (Just . line . snd) (const Nothing)
