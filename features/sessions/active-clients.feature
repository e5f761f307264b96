Feature: A session knows which clients are active in it
  An active client lends its tools to the agent. The list says on whom the agent may call, so it has to hold what each
  client said last, and nothing that one client does may change what another one said.

  Background:
    Given a session with one chat
    And a client "B" that watches the session

  @AHP-ACTC-001 @must
  Scenario: A client that speaks again replaces what it said before
    Given client "A" is active with the tool "first_tool"
    When client "A" makes itself active with the tool "second_tool"
    Then client "B" comes to see client "A" active once, as it last said
    And a fresh snapshot has client "A" active once, as it last said

  @AHP-ACTC-002 @must
  Scenario: Several clients are active at once
    Given client "A" is active with the tool "first_tool"
    When client "B" makes itself active with the tool "second_tool"
    Then a fresh snapshot has client "B" active once, as it last said
    And a fresh snapshot has client "A" active once, as it last said

  @AHP-ACTC-003 @must
  Scenario: A client takes itself off
    Given client "A" is active with the tool "first_tool"
    When client "A" takes itself off the active clients
    Then client "B" sees client "A" taken off

  @AHP-ACTC-003 @must
  Scenario: Taking off somebody who is not there changes nothing
    Given client "A" is active with the tool "first_tool"
    And client "B" is active with the tool "second_tool"
    When client "A" takes a stranger off the active clients
    Then a fresh snapshot has client "A" active once, as it last said
    And a fresh snapshot has client "B" active once, as it last said

  @AHP-ACTC-012 @must
  Scenario: An entry is complete also without tools
    When client "A" makes itself active without tools
    Then every entry of the active clients has a client id of its own and a list of tools
