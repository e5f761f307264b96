Feature: A ready session has a chat to talk in
  A client that opens a new session wants to show one input field, and needs to know where what is typed there goes.

  Background:
    Given a client "A" that watches nothing
    And a session that client "A" follows

  @AHP-CHAT-003 @must
  Scenario: A ready session has a chat
    Given the session is ready
    When another client looks at the session
    Then its catalogue has a chat that can be subscribed to

  @AHP-CHAT-050 @should
  Scenario: A ready session names its default chat
    Given the session is ready
    When another client looks at the session
    Then its default chat is one of the catalogue
