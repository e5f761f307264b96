Feature: The host alone writes the list
  An entry is a prompt that people act upon. A client that could plant one, or hide another's, would have them
  approve what nobody asked.

  Background:
    Given a session with one chat

  @AHP-INPUT-021 @should
  Scenario Outline: <action> of a client is refused
    When client "A" dispatches <action> by itself
    Then the action comes back rejected
    And inputNeeded is as it was

    Examples:
      | action                     |
      | session/inputNeededSet     |
      | session/inputNeededRemoved |

  @AHP-INPUT-021 @should @needs-tool
  Scenario: A client cannot hide what waits for the others
    Given the agent waits for an approval
    And client "A" sees it listed
    When client "A" dispatches session/inputNeededRemoved by itself
    Then the action comes back rejected
    And inputNeeded is as it was
