Feature: What is no request gets no answer, and what is no message does no harm
  Answers without a question confuse clients that count them; unreadable text of one client must not cost another one
  its connection.

  Background:
    Given a session with one chat

  @AHP-RPC-002 @must
  Scenario Outline: <what> is not answered
    Given a client "B" that watches nothing
    When client "B" sends <what>
    Then it is not answered

    Examples:
      | what                                                         |
      | an unsubscribe from a session that does not exist            |
      | an unsubscribe from a channel that it has not subscribed to  |
      | an action                                                    |
      | a dispatch without an action                                 |
      | an action for a session that does not exist                  |
      | a notification that does not exist                           |
      | a subscribe without an id                                    |

  @AHP-RPC-008 @should
  Scenario: Text that is not JSON is reported
    When client "A" sends text that is not JSON
    Then it is refused with the code -32700, or the connection is closed

  @AHP-RPC-009 @should
  Scenario: An object with nothing but an id is refused
    When client "A" sends an object with an id alone
    Then it is refused with the code -32600

  @AHP-RPC-023 @must
  Scenario Outline: <what> on one connection leaves the others working
    Given a client "B" that watches the session
    And a client "N" that has said nothing yet
    When client "N" sends <what>
    Then client "B" still receives what client "A" changes

    Examples:
      | what                  |
      | text that is not JSON |
      | an empty text         |
      | a bare number         |
